import * as crypto from './crypto.js'

/** `require` of what the library loads when it is first needed. */
export const createRequire =
  () =>
  (name: string): unknown => {
    if (name === 'node:crypto') return crypto
    throw new Error(`${name} is not in a browser`)
  }
