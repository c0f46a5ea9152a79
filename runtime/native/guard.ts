import { PtliteError } from '../error.js'
import { env } from '../platform.js'
import * as kernels from './generated/kernels.js'
import type { Block } from './held-blocks.js'

/** What `PTLITE_GUARD` may be; kernels/memory/guard.h says what it does. */
const SETTING = /^(1|start|end(:(1|2|4|8|16|32|64))?)$/

const abandoned = /* @__PURE__ */ new FinalizationRegistry<number>((address) => {
  kernels.mem_free({ address })
})

let isChecked = false

function check(): void {
  const setting = env.PTLITE_GUARD!
  if (!SETTING.test(setting))
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `PTLITE_GUARD is '${setting}'; expected 0, 1, start, end or end:N with N of 1 to 64, a power of two`,
    )
  isChecked = true
}

/** A block of the kernel library's between guard pages. */
export function takeGuarded(bytes: number): { readonly owner: object; readonly address: number } {
  if (!isChecked) check()
  const address = kernels.mem_alloc({ bytes })
  const owner = {}
  abandoned.register(owner, address, owner)
  return { owner, address }
}

/** The block faults from now on. */
export function discardGuarded({ owner, address }: Block): void {
  abandoned.unregister(owner)
  kernels.mem_free({ address })
}
