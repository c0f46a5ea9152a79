import * as functions from '../engine/background/functions.js'
import { background } from '../engine/lazy.js'

background.provide(functions)
