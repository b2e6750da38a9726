import type { Diagnosis } from '../app/diagnostics/diagnosis.ts'
import { diagnose } from '../app/diagnostics/doctor.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'

const marks = { ok: '✓', warning: '!', wrong: '✗' } as const

export const doctor: Command = {
  summary: 'Diagnose the installation and suggest fixes',
  usage: `gatehouse doctor [--offline] [--json]

  --offline  do not call the upstreams

Checks the configuration, the storage, its disk and the ports, asks every upstream for one token, and lists the periodic jobs. Exit code 1 if something is wrong.`,
  async run({ args, config, env, print }) {
    const { values } = readArguments(args, { json: { type: 'boolean' }, offline: { type: 'boolean' } })
    const findings = await diagnose(config, env, { isOffline: values.offline === true })
    if (values.json) print(JSON.stringify(findings.map(asJson), null, 2))
    else
      for (const { state, part, message, fix } of findings)
        print(`${marks[state]} ${part}: ${message}${fix === undefined ? '' : `\n    → ${fix}`}`)
    return findings.some(({ state }) => state === 'wrong') ? 1 : 0
  },
}

/** The field names of `--json`, which scripts rely on. */
const asJson = ({ part, state, message, fix }: Diagnosis) => ({ part, state, says: message, mend: fix })
