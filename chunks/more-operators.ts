import * as functions from '../runtime/operators/table/generated/more-functions.js'
import * as schemas from '../runtime/operators/table/generated/more-schemas.js'
import * as table from '../runtime/operators/table/generated/more-table.js'
import { moreOperators } from '../runtime/operators/table/lookup.js'
import * as extending from '../src/extension.js'
import { extension } from '../src/lazy.js'
import * as ofLimited from '../runtime/operators/table/limited.js'
import { limited } from '../runtime/operators/table/limited-chunk.js'
import { OperatorTable } from '../runtime/operators/table/operator-table.js'
import { decoderOf } from '../runtime/operators/table/schema-decoder.js'

extension.provide(extending)
limited.provide(ofLimited)
moreOperators.provide(new OperatorTable({ table, functions, schemaAt: decoderOf(schemas) }))
