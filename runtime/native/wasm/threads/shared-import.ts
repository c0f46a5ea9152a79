/** How the linker writes the import of the kernels' memory: its name, and that it is a memory. Whether it is shared follows; both have a bound. */
const IMPORT = [6, ...[...'memory'].map((letter) => letter.charCodeAt(0)), 2]
const OWN = 1
const SHARED = 3
/** Bytes within which it stands. */
const WITHIN = 1 << 14

/** The module with an import of shared memory, which its code is made for, too. A file without such an import stays as it is. */
export function withSharedMemory(module: Uint8Array): Uint8Array {
  const copy = module.slice()
  mark(copy, SHARED)
  return copy
}

/**
 * The linker makes code for threads alone with an import of shared memory, but it is as good for memory of one thread, which is what most pages have: so the files
 * ask for that (scripts/build/own-memory.ts). Throws where the module has no such import.
 */
export function withOwnMemory(module: Uint8Array): Uint8Array {
  const copy = module.slice()
  if (!mark(copy, OWN)) throw new Error('the module imports no memory with a bound')
  return copy
}

/** The same while the module comes; another answer stays as it is. */
export function sharedOnTheWay(response: Response): Response {
  if (!response.ok || response.body === null) return response
  let head: Uint8Array | undefined = new Uint8Array(0)
  const marking = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (head === undefined) {
        controller.enqueue(chunk)
        return
      }
      const joined = new Uint8Array(head.length + chunk.length)
      joined.set(head)
      joined.set(chunk, head.length)
      const isOver = mark(joined, SHARED) || joined.length >= WITHIN
      head = isOver ? undefined : joined
      if (isOver) controller.enqueue(joined)
    },
    flush(controller) {
      if (head !== undefined) controller.enqueue(head)
    },
  })
  return new Response(response.body.pipeThrough(marking), { headers: { 'content-type': response.headers.get('content-type') ?? '' } })
}

function mark(module: Uint8Array, kind: typeof OWN | typeof SHARED): boolean {
  const last = Math.min(module.length, WITHIN) - IMPORT.length - 1
  for (let at = 0; at <= last; at++) {
    const end = at + IMPORT.length
    if (!IMPORT.every((byte, i) => module[at + i] === byte) || (module[end] !== OWN && module[end] !== SHARED)) continue
    module[end] = kind
    return true
  }
  return false
}
