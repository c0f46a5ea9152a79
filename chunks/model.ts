import * as functions from '../engine/functions.js'
import { models } from '../engine/lazy.js'

models.provide(functions)
