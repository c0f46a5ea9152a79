/**
 * What fuzzers try in CI beyond their corpus and their fixed seeds: another part of all that can be tried each day, for a minute in all.
 * `npm run fuzz` runs them for as long as one likes (docs/fuzzing.md).
 */
export const SEED_OF_DAY = Math.floor(Date.now() / 86_400_000)
export const notInCi = process.env['CI'] === undefined && 'only in CI'

/** Of the minute, by fuzzer. */
export const SHARE = { files: 14_000, pt2: 5_000, pte: 5_000, ptlc: 6_000, operators: 8_000, frames: 7_000, programs: 15_000 } as const
