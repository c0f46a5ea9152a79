import { readFileSync } from 'node:fs'

/** Of this package. */
export const SERVE_VERSION = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
