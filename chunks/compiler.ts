import * as functions from '../compiler/functions.js'
import { compiler } from '../compiler/lazy.js'
import * as operators from '../runtime/operators/table/generated/compiled-functions.js'
import * as schemas from '../runtime/operators/table/generated/compiled-schemas.js'
import * as table from '../runtime/operators/table/generated/compiled-table.js'
import { compiledOperators } from '../runtime/operators/table/lookup.js'
import { OperatorTable } from '../runtime/operators/table/operator-table.js'
import { decoderOf } from '../runtime/operators/table/schema-decoder.js'

compiler.provide(functions)
compiledOperators.provide(new OperatorTable({ table, functions: operators, schemaAt: decoderOf(schemas) }))
