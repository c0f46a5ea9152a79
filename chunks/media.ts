import * as functions from '../media/functions.js'
import { media } from '../src/lazy.js'

media.provide(functions)
