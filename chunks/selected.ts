/** What a selective build has of the chunks. */
import * as compiling from '../compiler/functions.js'
import { compiler } from '../compiler/lazy.js'
import * as inBackground from '../engine/background/functions.js'
import * as loading from '../engine/functions.js'
import { background, caches, models, plans } from '../engine/lazy.js'
import * as narrowing from '../engine/narrow-caches.js'
import * as ofPlans from '../engine/plan-functions.js'
import * as readers from '../formats/codecs.js'
import { codecs } from '../formats/lazy.js'
import * as features from '../runtime/features.js'
import { tensorOperation } from '../src/values/tensor-operations.js'
import { type EagerFunctions, eager } from '../src/lazy.js'
import * as ofLimited from '../runtime/operators/table/limited.js'
import { limited } from '../runtime/operators/table/limited-chunk.js'
import './first-operators.js'

eager.provide({ tensorOperation } as EagerFunctions)
models.provide(loading)
codecs.provide(readers)
if (features.compiler) compiler.provide(compiling)
if (features.compiler || features.ptlc) plans.provide(ofPlans)
if (features.rounding) caches.provide(narrowing)
if (features.limited) limited.provide(ofLimited)
if (features.background) background.provide(inBackground)
