import * as functions from '../formats/codecs.js'
import { codecs } from '../formats/lazy.js'
import * as inspecting from '../src/inspection.js'
import { inspection } from '../src/lazy.js'

codecs.provide(functions)
inspection.provide(inspecting)
