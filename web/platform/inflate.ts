import { inflateSync } from 'fflate'
import type * as node from '../../formats/containers/zip/inflate.js'

/** One byte more than there should be: it is filled where there are too many. */
export const inflate: typeof node.inflate = (bytes, size) => inflateSync(bytes, { out: new Uint8Array(size + 1) })
