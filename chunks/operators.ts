import { eager } from '../src/lazy.js'
import * as functions from '../src/eager.js'
import './first-operators.js'

eager.provide(functions)
