import { caches, planning } from '../engine/lazy.js'
import * as narrowing from '../engine/narrow-caches.js'
import * as making from '../engine/plan-ahead.js'
import * as functions from '../formats/codecs.js'
import { codecs } from '../formats/lazy.js'
import * as inspecting from '../src/inspection.js'
import { inspection, remote } from '../src/lazy.js'
import * as loading from '../src/remote/node.js'

caches.provide(narrowing)
planning.provide(making)
codecs.provide(functions)
inspection.provide(inspecting)
remote.provide(loading)
