// Certificates for servers in tests.

import { join } from 'node:path';
import { $ } from 'bun';

/** Creates a certificate for "localhost" that is signed by itself, and its key; returns their paths. */
export async function newCertificate(folder: string, name: string) {
  const [certificate, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  await $`openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout ${key} -out ${certificate}`.quiet();
  return { certificate, key };
}
