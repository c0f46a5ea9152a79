import * as features from '../runtime/features.js'
import { missingReader } from './missing-reader.js'
import { read as ff } from './ff/read.js'
import { writeFf as writeFlatbuffer } from './ff/write.js'
import { read as pt2 } from './pt2/read.js'
import { read as pte } from './pte/read.js'
import { writePte as writeExecutorch } from './pte/write/write.js'
import { writePtl as writeZip } from './ptl/write.js'
import { read as torchscript } from './torchscript/read.js'

/* What the chunk of formats gives. */

export const readFf: typeof ff = features.ff ? ff : () => missingReader('.ff')
export const readPt2: typeof pt2 = features.pt2 ? pt2 : () => missingReader('.pt2')
export const readPte: typeof pte = features.pte ? pte : () => missingReader('.pte')
export const readTorchscript: typeof torchscript = features.torchscript ? torchscript : () => missingReader('.pt')
export const writeFf: typeof writeFlatbuffer = features.writers ? writeFlatbuffer : () => missingReader('.ff')
export const writePte: typeof writeExecutorch = features.writers ? writeExecutorch : () => missingReader('.pte')
export const writePtl: typeof writeZip = features.writers ? writeZip : () => missingReader('.ptl')
