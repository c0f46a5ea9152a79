/** The whole library in one piece. */
import './operators.js'
import './more-operators.js'
import './model.js'
import './plans.js'
import './compiler.js'
import './formats.js'
import './background.js'
import './media.js'
