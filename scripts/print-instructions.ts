// npx tsx scripts/print-instructions.ts > docs/instructions.md
import { instructionsDoc } from './instructions-doc.js'

process.stdout.write(instructionsDoc())
