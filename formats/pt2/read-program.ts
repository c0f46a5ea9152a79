import type { Range } from '../exported/checks.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { guarded, unsupported, damaged } from '../../program/file-error.js'
import { Deferred, type Json, JsonReader, type JsonObject } from '../exported/json.js'
import { countOf, integerOf, listOf, objectOf, textOf } from '../exported/json-values.js'
import { parseSympy } from '../exported/parse-expression.js'
import type { ExportedProgram } from './program.js'
import { DEFERRED_FIELDS, readGraph } from './read-graph.js'
import { readSignature } from './signature.js'
import { type MetaOf, readTensorMeta, type TensorMeta } from './tensor-meta.js'
import { readCallTrees, readTupleFields } from '../exported/tree.js'

const SCHEMA = { first: 7, last: 8 }
/** The operator version of PyTorch 1.13 and later, where a program does not say. */
const OPERATORS = 10

/** Fields of the outermost object that are read after the version: that says whether they can be. */
const PARTS: ReadonlySet<string> = new Set(['graph_module'])

/** Reads the JSON of a program. Throws UNSUPPORTED_FILE for another version of the schema, INVALID_FILE for what is not in order. */
export function readProgram(text: Uint8Array, budget: ValueBudget): { program: ExportedProgram; operatorVersion: number } {
  const reader = new JsonReader(text, budget)
  const fields = objectOf(reader.document(PARTS), 'a program')
  checkSchema(fields)
  const module = fields.get('graph_module')
  if (!(module instanceof Deferred)) throw damaged('the program has no graph')
  const parts = objectOf(reader.at(module, DEFERRED_FIELDS))
  const graph = readGraph(parts.get('graph'))
  const signature = readSignature(parts.get('signature'))
  const tupleFields = readTupleFields(parts.get('treespec_namedtuple_fields'))
  const symbols = graph.symbols === null ? new Map<string, Json>() : reader.at(graph.symbols)
  const metas = new Map<Deferred | null, MetaOf>([[null, () => undefined]])
  return {
    operatorVersion: operatorVersionOf(fields),
    program: {
      graph,
      signature,
      trees: readCallTrees(parts.get('module_call_graph'), tupleFields, budget),
      ranges: readRanges(fields.get('range_constraints')),
      guards: listOf(fields.get('guards_code') ?? []).map((guard) => textOf(guard)),
      metasOf({ tensors }) {
        const metaOf = metas.get(tensors) ?? readMetas(objectOf(reader.at(tensors!)))
        metas.set(tensors, metaOf)
        return metaOf
      },
      symbolOf(name) {
        const json = objectOf(symbols).get(name)
        const expression = json instanceof Map ? json.get('as_expr') : undefined
        return expression instanceof Map ? parseSympy(textOf(expression.get('expr_str'))) : null
      },
    },
  }
}

function readMetas(metas: JsonObject): MetaOf {
  const known = new Map<string, TensorMeta>()
  return (name) => {
    const json = metas.get(name)
    if (json === undefined) return undefined
    const meta = known.get(name) ?? guarded(`'${name}'`, () => readTensorMeta(json))
    known.set(name, meta)
    return meta
  }
}

function checkSchema(fields: JsonObject): void {
  const version = objectOf(fields.get('schema_version'), 'the version of the schema')
  const major = countOf(version.get('major'), 'a version')
  if (major >= SCHEMA.first && major <= SCHEMA.last) return
  const advice =
    major < SCHEMA.first
      ? 'export it again with PyTorch 2.8 to 2.14'
      : 'it is newer than this runtime: export it with PyTorch 2.14, or update ptlite'
  throw unsupported(`expected version ${SCHEMA.first} to ${SCHEMA.last} of the export schema, found ${major}; ${advice}`)
}

function operatorVersionOf(fields: JsonObject): number {
  const versions = fields.get('opset_version')
  const aten = versions instanceof Map ? versions.get('aten') : undefined
  return aten === undefined ? OPERATORS : Math.min(countOf(aten, 'a version of operators', 1, 1000), OPERATORS)
}

function readRanges(json: Json | undefined): Map<string, Range> {
  if (json === undefined || json === null) return new Map()
  // limits of 64 bits are none
  const limit = (value: Json | undefined): number | null =>
    value === undefined || value === null || typeof integerOf(value, 'a limit') === 'bigint' ? null : Number(value)
  return new Map(
    [...objectOf(json)].map(([symbol, item]) => {
      const range = objectOf(item)
      return [symbol, { min: limit(range.get('min_val')), max: limit(range.get('max_val')) }] as const
    }),
  )
}
