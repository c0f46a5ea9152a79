// npx tsx scripts/print-commands.ts > docs/commands.md
import { commandsDoc } from './commands-doc.js'

process.stdout.write(commandsDoc())
