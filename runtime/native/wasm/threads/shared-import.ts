/** How the linker writes the import of the kernels' memory: its name, that it is a memory, and that it has a bound. */
const IMPORT = [6, ...[...'memory'].map((letter) => letter.charCodeAt(0)), 2, 1]
const SHARED = 3
/** Bytes within which it stands. */
const WITHIN = 1 << 14

/** The module with an import of shared memory, which its code is made for, too. A file without such an import stays as it is. */
export function withSharedMemory(module: Uint8Array): Uint8Array {
  const copy = module.slice()
  mark(copy)
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
      const isOver = mark(joined) || joined.length >= WITHIN
      head = isOver ? undefined : joined
      if (isOver) controller.enqueue(joined)
    },
    flush(controller) {
      if (head !== undefined) controller.enqueue(head)
    },
  })
  return new Response(response.body.pipeThrough(marking), { headers: { 'content-type': response.headers.get('content-type') ?? '' } })
}

function mark(module: Uint8Array): boolean {
  const last = Math.min(module.length, WITHIN) - IMPORT.length
  for (let at = 0; at <= last; at++) {
    if (!IMPORT.every((byte, i) => module[at + i] === byte)) continue
    module[at + IMPORT.length - 1] = SHARED
    return true
  }
  return false
}
