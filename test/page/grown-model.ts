import { loadModelFile } from '../../formats/read.js'
import { writePtl } from '../../formats/ptl/write.js'
import { tensor } from '../../src/index.js'

/** The file of a model with a further attribute of about so many bytes. */
export function grownModel(file: string, bytes: number): Uint8Array {
  const program = loadModelFile(file)
  try {
    const { names, slots } = program.root
    names.push('table')
    slots.push(tensor(new Float32Array(bytes / 4).map((_, i) => i % 7)))
    return writePtl(program, new Map())
  } finally {
    program.close()
  }
}
