/** Files: there are none, and whoever asks for one is told so. */
import { PtliteError } from '../../runtime/error.js'

function noFiles(): never {
  throw new PtliteError('UNSUPPORTED_HOST', 'browsers have no files: pass the bytes, a File or what fetch() answered')
}

export const constants = { O_RDONLY: 0, O_NONBLOCK: 0 }
export const existsSync = (): boolean => false
export const statSync = (): undefined => undefined
export { noFiles as closeSync, noFiles as fstatSync, noFiles as openSync, noFiles as readFileSync, noFiles as readSync }
