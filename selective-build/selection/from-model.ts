import { basename } from 'node:path'
import { loadModelFile } from '../../formats/read.js'
import { linkFunctions } from '../../program/link.js'
import { missingIn, refuseUseless } from '../../program/missing.js'
import { FIRST_WITH_COUNTS, type Program } from '../../program/program.js'
import { upgraderFor } from '../../program/upgraders.js'
import { PtliteError } from '../../runtime/error.js'
import { EMPTY_TRACE, type OperatorUse, type Trace } from '../trace/trace.js'

/** Instructions that stand for operators, as the linker takes them. */
const PROMOTED = new Map([
  [38, 'aten::format'],
  [43, 'prim::tolist'],
  [44, 'prim::NumToTensor.Scalar'],
])

/** What a model file names, without running it: its operators with whatever kernels and dtypes they may need. */
export function traceOfModel(path: string): Trace {
  const file = loadModelFile(path)
  try {
    const names = new Set<string>()
    const features = new Set([`loader:${file.format}`])
    if (file.bytecodeVersion < FIRST_WITH_COUNTS) features.add('argument-counts')
    for (const part of file.parts ?? []) features.add(part)
    for (const name of file.lookedUp?.keys() ?? []) names.add(name)
    for (const fn of file.functions) {
      for (const { name, overload } of fn.operators) {
        const qualified = overload === '' ? name : `${name}.${overload}`
        names.add(qualified)
        for (const use of upgraderFor(qualified, file.operatorVersion)?.uses ?? []) names.add(use)
      }
      for (let at = 0; at < fn.code.length; at += 3) {
        const promoted = PROMOTED.get(fn.code[at]!)
        if (promoted !== undefined) names.add(promoted)
      }
    }
    for (const name of lacking(file)) names.delete(name)
    const debugInfo = new Set([basename(path)])
    const operators = new Map<string, OperatorUse>([...names].map((name) => [name, { isRoot: true, isCalled: true, debugInfo }]))
    return { ...EMPTY_TRACE, operators, features }
  } finally {
    file.close()
  }
}

/** Operators that the library lacks and the model loads without. */
function lacking({ functions, operatorVersion, root }: Program): string[] {
  const linked = linkFunctions(functions, operatorVersion, new Map(), true)
  try {
    refuseUseless(linked, root.typeName)
    return missingIn(linked)
  } catch (error) {
    if (error instanceof PtliteError && error.code === 'MISSING_OPERATOR') return []
    throw error
  }
}
