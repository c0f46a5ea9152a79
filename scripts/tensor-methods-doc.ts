import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { signaturesOf } from '../codegen/emit/tensor-methods.js'
import { readOperators } from '../codegen/generate.js'
import { readTensorMethods, type TensorMethod } from '../codegen/tensor-methods.js'
import { readEntries } from '../codegen/yaml-file.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const INPUT = 'codegen/tensor_methods.yaml'
const FIRST = '### Methods and functions\n'
const NEXT = '\n## Pictures\n'

/** docs/api.md with the tables of codegen/tensor_methods.yaml. */
export function withTensorMethods(page: string): string {
  const [before, rest] = halves(page, FIRST)
  const [, after] = halves(rest, NEXT)
  return `${before}${FIRST}\n${section()}${NEXT}${after}`
}

export function apiPage(): string {
  return readFileSync(join(root, 'docs/api.md'), 'utf8')
}

function halves(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at < 0) throw new Error(`docs/api.md has no line ${mark.trim()}`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}

function section(): string {
  const methods = readTensorMethods(readEntries(join(root, INPUT), INPUT), readOperators(join(root, 'codegen/native_functions'), root))
  const groups = [...new Set(methods.map(({ group }) => group))]
  return `What is most often needed around a model is a method of tensors, or a function of the package, with PyTorch's results, dtypes and broadcasting. "reduced" is the shape without the dimensions that are
named, or with sizes of 1 in their place where \`keepdim\` is true, and \`[]\` without any; "broadcast" that of both, where sizes of 1 stand for all that the other has; "floating" the tensor's dtype, or
float32 for integers. Dimensions and indices below 0 count from the last.

${groups.map((group) => tableOf(group, methods)).join('\n')}`
}

function tableOf(group: string, all: readonly TensorMethod[]): string {
  const rows = all
    .filter((method) => method.group === group)
    .map((method) => `| ${callsText(method)} | ${method.doc} | ${method.shape} | ${dtypeText(method)} |\n`)
  return `| ${group} | result | shape | dtype |\n|---|---|---|---|\n${rows.join('')}`
}

/** The calls of a method, with parameters that may be left out marked: `sum(dims?, keepdim?)`. */
function callsText(method: TensorMethod): string {
  return signaturesOf(method)
    .map((signature) => {
      const names = [
        ...signature
          .slice(signature.indexOf('('))
          .split('): ')[0]!
          .matchAll(/(\w+\??): /g),
      ].map(([, name]) => name!)
      return `\`${method.name}(${names.join(', ')})\``
    })
    .join(', ')
}

const DTYPES: Readonly<Record<string, string>> = {
  ...{ same: 'the same', floating: 'floating', sum: 'the same, int64 for integers', real: 'the same, or of the parts', bool: 'bool' },
  ...{ promoted: 'of both', quotient: 'of both, floating', elements: 'of all', int64: 'int64' },
}

function dtypeText({ dtypes }: TensorMethod): string {
  const texts = dtypes.map((dtype) => {
    const [rule, ...fallbacks] = dtype.split(' ')
    return rule === 'given' ? ['as given', ...fallbacks].join(', or ') : DTYPES[rule!]!
  })
  return texts.length === 0 ? 'of all' : texts.join('; ')
}
