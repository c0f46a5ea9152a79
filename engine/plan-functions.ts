/** What the chunk of plans gives. */
export { whyNoMethod, whyNoPlan } from '../formats/ptlc/writable.js'
export { loadPlans } from './load-plans.js'
