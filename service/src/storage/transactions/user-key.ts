// The number by which a user's transactions are indexed: a hash of the passbackUid. A passbackUid in an import can have 65,536
// characters, but PostgreSQL indexes at most 2,700 bytes, and short keys make imports faster. Among a hundred million users,
// about two share a key, so every search also compares the passbackUid in the document.

/** Returns an integer from 1 to 2^52. Stored in databases: never change the algorithm, XXH64. */
export function userKey(passbackUid: string): number {
  return Number(Bun.hash.xxHash64(passbackUid) >> 12n) + 1;
}
