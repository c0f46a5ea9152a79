import { Bytes } from './bytes.js'
import { type Code, TYPE_BYTES } from './code.js'
import { EXPORT, IMPORT } from './names.js'

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const
const FUNCTION_TYPE = 0x60
const MEMORY = 2
/** Of 64 KiB: all that addresses of 32 bits reach. Shared memory is imported with a bound, which its own is compared with. */
const MAX_PAGES = 65536

/** A module of one function without result, exported as EXPORT, on the memory that it is given as IMPORT, which is `shared` with threads or not. */
export function moduleOf(code: Code, shared: boolean): Uint8Array<ArrayBuffer> {
  const module = new Bytes().all(MAGIC)
  const section = (id: number, write: (to: Bytes) => void): void => {
    module.byte(id).sized(write)
  }
  section(SECTION.type, (to) => {
    to.unsigned(1).byte(FUNCTION_TYPE).unsigned(code.parameters.length)
    for (const type of code.parameters) to.byte(TYPE_BYTES[type])
    to.unsigned(0)
  })
  section(SECTION.import, (to) => {
    to.unsigned(1).name(IMPORT.module).name(IMPORT.name).byte(MEMORY)
    if (shared) to.byte(3).unsigned(0).unsigned(MAX_PAGES)
    else to.byte(0).unsigned(0)
  })
  section(SECTION.function, (to) => to.unsigned(1).unsigned(0))
  section(SECTION.export, (to) => to.unsigned(1).name(EXPORT).byte(0).unsigned(0))
  section(SECTION.code, (to) => to.unsigned(1).sized((body) => body.append(code.finish())))
  return module.finish()
}
