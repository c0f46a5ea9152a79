import { damaged } from '../../program/file-error.js'

/** Numbers of c10::ScalarType by those of the export schema, which counts from 1. */
const SCALAR_TYPES: Readonly<Record<number, number>> = {
  1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 7, 9: 8, 10: 9, 11: 10, 12: 11, 13: 15,
  28: 27, 29: 24, 30: 23, 31: 26, 32: 25, 33: 44, 34: 28, 35: 29,
} // prettier-ignore

/** Those of c10::ScalarType that tensors of this runtime cannot have. */
const LACKING: Readonly<Record<number, string>> = {
  8: 'complex32',
  44: 'float8_e8m0fnu',
}

/** Numbers of c10::Layout: strided, sparse COO, CSR, CSC, BSR, BSC, mkldnn. */
const LAYOUTS: Readonly<Record<number, number>> = { 7: 0, 1: 1, 2: 2, 3: 4, 4: 5, 5: 6, 6: 3 }

/** Numbers of c10::MemoryFormat: contiguous, channels_last, channels_last_3d, preserve. */
const MEMORY_FORMATS: Readonly<Record<number, number>> = { 1: 0, 2: 2, 3: 3, 4: 1 }

export const STRIDED = 0

export function scalarTypeOf(code: number): number {
  return lookUp(SCALAR_TYPES, code, 'scalar type')
}

/** The name of an element type that this runtime has no tensors of; undefined for all others. */
export function lackingDtype(scalarType: number): string | undefined {
  return LACKING[scalarType]
}

export function layoutOf(code: number): number {
  return lookUp(LAYOUTS, code, 'layout')
}

export function memoryFormatOf(code: number): number {
  return lookUp(MEMORY_FORMATS, code, 'memory format')
}

function lookUp(table: Readonly<Record<number, number>>, code: number, what: string): number {
  const number = table[code]
  if (number === undefined) throw damaged(`the ${what} number ${code} means nothing`)
  return number
}
