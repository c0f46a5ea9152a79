import { plans } from '../engine/lazy.js'
import * as functions from '../engine/plan-functions.js'

plans.provide(functions)
