import { latin1TextOf } from '../../runtime/encoding.js'
import { absent } from '../../runtime/error.js'
import * as features from '../../runtime/features.js'
import type { ByteSource } from '../containers/bytes.js'
import { FilePart } from '../containers/file-part.js'
import { FlatReader, type FlatTable } from '../containers/flatbuffer/reader.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { Field } from './schema.js'

/** The identifier of a bundled program. */
export const BUNDLE = 'BP08'

/** A program, and the test cases that are bundled with it by method. */
export interface OpenedProgram {
  readonly file: FilePart
  readonly program: FilePart
  readonly suites: readonly FlatTable[]
}

/** The program of a file: a `.pte`, or one that is bundled with test cases. */
export function openBundle(source: ByteSource, budget: ValueBudget): OpenedProgram {
  const file = FilePart.whole(source)
  if (latin1TextOf(source.head.subarray(4, 8)) !== BUNDLE) return { file, program: file, suites: [] }
  if (!features.testCases) throw absent('the reader of programs that are bundled with test cases', 'UNSUPPORTED_FILE')
  const root = new FlatReader(file, undefined, budget, true).root()
  const { start, length } = root.vector(Field.bundle.program, 1)
  return { file, program: file.part(start, length), suites: root.tables(Field.bundle.suites) }
}
