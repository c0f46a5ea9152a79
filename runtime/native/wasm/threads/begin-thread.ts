import type { ThreadExports } from '../exports.js'
import type { Kernels } from '../kernels.js'
import type { CompiledModule, Memory } from '../web-assembly.js'
import type { Order, Said, Start } from './messages.js'
import { startThread } from './start.js'

/** As natively. */
const STACK_BYTES = 1 << 20

/** What all threads have. */
export interface Shared {
  readonly kernels: Kernels
  readonly module: CompiledModule
  readonly memory: Memory
  /** Their program, where it is not beside the library. */
  readonly file: string | URL | undefined
}

export interface Thread {
  tell(order: Order): void
  /** Whether the program goes on for its sake, as it does until the thread has begun. */
  hold(isHeld: boolean): void
}

/** What becomes of a thread. */
export interface Life {
  readonly begun: () => void
  readonly status: (status: number) => void
  /** In order, because it was told so. */
  readonly ended: () => void
  /** It never begins, or has ended for another reason; its kernel, if any, is not done. */
  readonly failed: (reason: string) => void
}

/** Makes memory and an instance for a thread. */
export function beginThread(shared: Shared, isHelper: boolean, life: Life): Thread | undefined {
  const { kernels, module, memory, file } = shared
  const { __tls_size: size, __tls_align: alignment } = kernels.exports as ThreadExports
  let block: number
  let thread: ReturnType<typeof startThread>
  // begins, ends once
  let state: 'new' | 'begun' | 'over' = 'new'
  const over = (isFree: boolean, say: () => void): void => {
    if (state === 'over') return
    state = 'over'
    if (isFree) kernels.give(block)
    say()
  }
  const said = (message: Said): void => {
    if (message === 'begun') {
      state = 'begun'
      thread.hold(false)
      life.begun()
    } else if (message === 'ended') {
      over(true, life.ended)
    } else if ('trap' in message) {
      over(false, () => {
        life.failed(message.trap)
      })
    } else {
      life.status(message.status)
    }
  }
  const failed = (reason: string): void => {
    over(state === 'new', () => {
      life.failed(reason)
    })
  }
  try {
    // blocks are aligned for any thread_local
    block = kernels.take(STACK_BYTES + size.value + alignment.value)
    thread = startThread(file, { said, failed })
  } catch (error) {
    life.failed(error instanceof Error ? error.message : String(error))
    return undefined
  }
  const stack = block + STACK_BYTES
  const start: Start = { module, memory, stack, locals: stack, origin: performance.timeOrigin, isHelper }
  thread.tell(start)
  return { tell: (order) => thread.tell(order), hold: (isHeld) => thread.hold(isHeld) }
}
