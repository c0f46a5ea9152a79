import { decodeSchema } from '../runtime/operators/table/decode-schema.js'
import * as functions from '../runtime/operators/table/generated/functions.js'
import * as table from '../runtime/operators/table/generated/table.js'
import { firstOperators } from '../runtime/operators/table/lookup.js'
import { OperatorTable } from '../runtime/operators/table/operator-table.js'

firstOperators.provide(new OperatorTable({ table, functions, schemaAt: decodeSchema }))
