import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** A frame that was launched, without its memory. */
export interface Seed {
  /** Numbers by member; those that JSON has not got are text. */
  readonly fields: Readonly<Record<string, readonly (number | string)[]>>
  /** Bytes of addresses that are 0. */
  readonly absent: readonly number[]
}

let seeds: Readonly<Record<string, readonly Seed[]>> | undefined

/** Frames of a kernel that record.ts saw. */
export function seedsOf(kernel: string): readonly Seed[] {
  seeds ??= JSON.parse(gunzipSync(readFileSync(new URL('seeds.json.gz', import.meta.url))).toString()) as typeof seeds
  return seeds![kernel] ?? []
}
