import * as data from './generated/schemas.js'
import { decoderOf } from './schema-decoder.js'

/** The schema at a position of the first table. Selective builds of few operators have them as they are (codegen/emit/schemas.ts). */
export const decodeSchema = decoderOf(data)
