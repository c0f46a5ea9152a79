import { eager } from '../src/lazy.js'
import * as functions from '../src/eager.js'

eager.provide(functions)
