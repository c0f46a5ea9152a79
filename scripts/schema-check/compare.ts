import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defaultLiteral } from '../../codegen/types/default-value.js'
import { type Argument, type FunctionSchema, isOutArgument, isWritten, qualifiedName, type SchemaType } from '../../codegen/schema/model.js'
import { parseSchema } from '../../codegen/schema/parser.js'
import { printArgument, printSchema, printType } from '../../codegen/schema/printer.js'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Schemas of the PyTorch that is compared with: pytorch_schemas.py writes them. */
export const PYTORCH = path('pytorch-2.13.txt')
/** What is known to differ and to be missing. */
export const BASELINE = path('baseline.txt')

/** How a schema of this library serves calls that PyTorch writes. */
export interface Comparison {
  /** Letter for letter the same. */
  readonly equal: readonly string[]
  /** Every call that PyTorch can write means the same here. */
  readonly compatible: readonly string[]
  /** By name, what may be taken for something else or refused. */
  readonly different: ReadonlyMap<string, string>
  /** Operators for inference that are not here. */
  readonly missing: readonly string[]
}

/** PyTorch's schemas by section. */
export function readSections(text: string): Map<string, FunctionSchema[]> {
  const sections = new Map<string, FunctionSchema[]>()
  let section: FunctionSchema[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('[')) sections.set(line.slice(1, -1), (section = []))
    else if (line !== '' && !line.startsWith('#')) section.push(parseSchema(line))
  }
  return sections
}

/** Compares schemas of this library, as texts, with PyTorch's. */
export function compareSchemas(ours: readonly string[], sections: ReadonlyMap<string, readonly FunctionSchema[]>): Comparison {
  const byName = new Map(ours.map((text) => [text.slice(0, text.indexOf('(')), text]))
  const equal: string[] = []
  const compatible: string[] = []
  const different = new Map<string, string>()
  const missing: string[] = []
  for (const [section, schemas] of sections) {
    for (const theirs of schemas) {
      const name = qualifiedName(theirs)
      const text = byName.get(name)
      const reason = text === undefined ? null : differenceOf(parseSchema(text), theirs)
      if (text === undefined) {
        // the linker serves it without an entry in the table
        if (section === 'inference' && name !== 'prim::RaiseException') missing.push(name)
      } else if (reason !== null) different.set(name, reason)
      else if (text === printSchema(theirs)) equal.push(name)
      else compatible.push(name)
    }
  }
  return { equal, compatible, different: new Map([...different].sort(([a], [b]) => (a < b ? -1 : 1))), missing: missing.sort() }
}

/** The lists that must not grow, as the baseline has them: a line each, what is missing in short; `tags` are those that differ. */
export function baselineText({ different, missing }: Comparison, tags: readonly string[]): string {
  const lines = [...different].map(([name, reason]) => `${name}: ${reason}`)
  return `# By npm run schemas:check -- --update: what docs/adding-an-operator.md says of it\n[different]\n${lines.map((l) => `${l}\n`).join('')}[missing]\n${missing.map((m) => `${m}\n`).join('')}[tags]\n${tags.map((l) => `${l}\n`).join('')}`
}

/** The comparison with the operators of a build, whose schemas are given. */
export function compareWithPyTorch(ours: readonly string[]): Comparison {
  return compareSchemas(ours, readSections(readFileSync(PYTORCH, 'utf8')))
}

/** What a call by PyTorch's schema would not find here; null for nothing. */
export function differenceOf(ours: FunctionSchema, theirs: FunctionSchema): string | null {
  if (ours.isVararg || theirs.isVararg) return null
  const split = (args: readonly Argument[]): [Argument[], Argument[]] => [args.filter((a) => !isOutArgument(a)), args.filter(isOutArgument)]
  const [inputs, outs] = split(ours.arguments)
  const [theirInputs, theirOuts] = split(theirs.arguments)
  for (const [i, theirArgument] of theirInputs.entries()) {
    const argument = inputs[i]
    if (argument === undefined) return `has no ${printArgument(theirArgument)}`
    const reason = argumentDifference(argument, theirArgument)
    if (reason !== null) return reason
  }
  const extra = inputs.slice(theirInputs.length).find((a) => a.defaultValue === null)
  if (extra !== undefined) return `wants ${printArgument(extra)}`
  if (outs.length !== theirOuts.length) return `has ${outs.length} out arguments instead of ${theirOuts.length}`
  if (ours.isVarret || theirs.isVarret) return null
  if (ours.returns.length !== theirs.returns.length) return `returns ${ours.returns.length} values instead of ${theirs.returns.length}`
  const [ourTypes, theirTypes] = [ours, theirs].map(({ returns }) => returns.map(({ type }) => canonical(type)).join(', '))
  return ourTypes === theirTypes ? null : `returns ${ourTypes} instead of ${theirTypes}`
}

function argumentDifference(ours: Argument, theirs: Argument): string | null {
  const [wanted, found] = [printArgument(theirs), printArgument(ours)]
  if (!accepts(ours.type, theirs.type)) return `takes ${found} instead of ${wanted}`
  if (isWritten(ours.type) !== isWritten(theirs.type))
    return `${isWritten(ours.type) ? 'writes into' : 'does not write into'} ${theirs.name}`
  if (theirs.defaultValue === null) return null
  // a call leaves out what is the default there
  if (ours.defaultValue === null) return `wants ${found}, which has a default: ${wanted}`
  return defaultLiteral(ours.defaultValue, ours.type) === defaultLiteral(theirs.defaultValue, theirs.type)
    ? null
    : `has ${found} instead of ${wanted}`
}

/** Whether every value of PyTorch's type is one of ours. */
function accepts(ours: SchemaType, theirs: SchemaType): boolean {
  if (ours.kind === 'optional') return accepts(ours.inner, theirs.kind === 'optional' ? theirs.inner : theirs)
  if (theirs.kind === 'optional') return false
  if (ours.kind === 'list' && theirs.kind === 'list')
    return (theirs.size === null || theirs.size === ours.size || theirs.size === 1 || ours.size === 1) && accepts(ours.inner, theirs.inner)
  const [a, b] = [canonical(ours), canonical(theirs)]
  return a === b || (a === 'Scalar' && (b === 'int' || b === 'float' || b === 'bool')) || a === 'Any'
}

/** The type without what calls cannot tell: alias sets, and that a size may be symbolic. */
function canonical(type: SchemaType): string {
  return printType(type, false).replaceAll('SymInt', 'int').replaceAll('SymBool', 'bool')
}
