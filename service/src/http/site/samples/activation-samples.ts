// Samples of activation, for the shell only: links are followed by users, and one request needs no program. With the data in
// `examples/` they run as they are, but for the id of the organisation.

import { type CodeSample, LOCAL_URL } from '../code-samples.ts';
import { EXAMPLE_ORG } from '../openapi-words.ts';

/** What is activated: the path of its list, its example's id, and what to call it. */
interface ActivatedExample {
  readonly path: string;
  readonly id: string;
  readonly words: string;
}

/** How to send a user there, how to activate it for later, and how to follow the link that this returns. */
export function activationSamples({ path, id, words }: ActivatedExample, baseUrl = LOCAL_URL) {
  const variables = `ORG=${EXAMPLE_ORG} # the public id of your organisation\nID=${id} # of the ${words}`;
  const url = `"${baseUrl}${path}$ID/activate/?orgId=$ORG&passbackUid=user-8842"`;
  return {
    follow: shell(`${variables}\ncurl -si ${url}`),
    activate: shell(`${variables}\ncurl -s -X POST ${url}`),
    go: shell(`${variables}\nLINK=$(curl -s -X POST ${url} | cut -d '"' -f 4)\ncurl -si "$LINK"`),
  };
}

function shell(source: string): CodeSample[] {
  return [{ lang: 'Shell', label: 'curl', source }];
}
