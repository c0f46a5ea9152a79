import { env } from '../platform.js'

/** Guard pages (guard.ts): whether every block is between them. */
export const GUARDED = /* @__PURE__ */ isGuarded(env.PTLITE_GUARD)

function isGuarded(setting: string | undefined): boolean {
  return setting !== undefined && setting !== '' && setting !== '0'
}
