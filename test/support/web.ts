import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type * as library from '../../web/index.js'

const DIST = fileURLToPath(new URL('dist/', new URL('../../', import.meta.url)))

/** The library for browsers, which `npm run build:web` makes. */
export const WEB_LIBRARY = `${DIST}web.js`

/** Why tests of it are left out; false where it is there. */
export const withoutWeb: string | false = [WEB_LIBRARY, `${DIST}web/ptlite.wasm`, `${DIST}web/ptlite-relaxed.wasm`].every((file) =>
  existsSync(file),
)
  ? false
  : "dist/web.js or its kernels are missing; run 'npm run build:web'"

export async function webLibrary(): Promise<typeof library> {
  return (await import(WEB_LIBRARY)) as typeof library
}
