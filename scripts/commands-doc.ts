import { COMMANDS } from '../src/cli/command-line.js'
import { helpOf } from '../src/cli/help-text.js'
import { SELECTIVE_BUILD } from '../src/cli/selective-build-usage.js'

/** docs/commands.md: what commands say under --help, as a page. */
export function commandsDoc(): string {
  const described = (name: string, help: string): string => `## ${name}\n\n\`\`\`text\n${help}\n\`\`\`\n`
  const sections = Object.entries(COMMANDS).map(([name, command]) => described(`ptlite ${name}`, helpOf(command, 'ptlite', 100)))
  return `# Commands

\`npx ptlite COMMAND\` in an app that has the package, \`node dist/cli.js COMMAND\` in a clone. This page is printed from what the commands say under \`--help\`.

A file may be \`-\`, which is stdin. The exit status is 0, 1 where a command fails and 2 for a wrong command line. With \`--json\` a failure is
\`{"error":{"code","message"}}\` on stdout, beside its line on stderr; \`code\` is that of the \`PtliteError\`, or \`USAGE\`. What takes long says so on a terminal; colours go by
\`NO_COLOR\`. \`ptlite -v\` prints the version.

${[...sections, described('selective-build', helpOf(SELECTIVE_BUILD, '', 100))].join('\n')}`
}
