export { type CompileMode, type PlanInfo, type PlannedCall, TieredModule } from './tier.js'
