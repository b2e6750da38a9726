import { readArguments, required } from './arguments.ts'
import { movedToApply, unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { testPolicies } from './cases/test.ts'
import { backtest, backtests } from './policies/backtest.ts'
import { policyOptions, type Verb } from './policies/call.ts'
import { approve, gate } from './policies/gate.ts'
import { exceptions } from './policies/exceptions.ts'
import { fieldUsage } from './policies/fields.ts'
import { verbs } from './policies/verbs.ts'

const known: Readonly<Record<string, Verb>> = { ...verbs, backtest, backtests, gate, approve, exceptions }
const withoutId = new Set(['list', 'create', 'exceptions'])

export const policies: Command = {
  summary: 'Write, publish and compare policies',
  isRemote: true,
  usage: `gatehouse policies list [--json]
gatehouse policies show ID [--json]
gatehouse policies create --name NAME --rule TEXT [FIELDS] [--json]
gatehouse policies update ID [--name NAME] [--rule TEXT] [FIELDS] [--revision N] [--json]
gatehouse policies publish ID [--reason TEXT] [--percent N] [--gate-run RUN] [--override REASON] [--revision N] [--json]
gatehouse policies rollout ID [--percent N] [--revision N] [--json]
gatehouse policies pause|resume|discard|delete ID [--revision N] [--json]
gatehouse policies rollback ID --version N [--reason TEXT] [--revision N] [--json]
gatehouse policies diff ID [--version N] [--json]
gatehouse policies backtest ID [--from TIME] [--to TIME] [--limit N] [--sample PERCENT] [--thresholds N,N] [--no-wait] [--json]
gatehouse policies backtest ID --backtest BACKTEST [--cancel] [--json]
gatehouse policies backtests ID [--json]
gatehouse policies gate ID [--gate-run RUN] [--revision N] [--json]
gatehouse policies approve ID --gate-run RUN [--json]
gatehouse policies exceptions list [ID] [--json]
gatehouse policies exceptions add ID (--project|--user|--key|--text|--digests|--event) VALUE --reason TEXT --until TIME [--owner NAME] [--json]
gatehouse policies exceptions end ID EXCEPTION [--json]
gatehouse policies test -f FOLDER|FILE [--judge skip|ask|recorded] [--junit FILE] [--watch] [--org ID] [--json]

FIELDS: ${fieldUsage}

Without --revision, a change applies to the current revision. discard sets the draft back to the current version. diff compares the draft with the current version, or with the
version that --version names. backtest replays the draft over recorded requests; TIME is 2027-01-31, or 7d for a week ago.
backtests lists those of the last 30 days; --cancel ends a running one.
publish runs the publish gate first if it requires a run and there is none of this draft; --override publishes past it, with a
reason. gate runs the publish gate on the draft, or shows a run. Exits with 4 if a required check is not passed. approve approves the draft of another
person.
rollout enforces a policy for a share of users and only records it for the others; without --percent it compares both sides.
exceptions lists, adds and ends what a policy is not enforced for; without ID it lists the live ones of all policies. TIME is at most 30 days ahead: 2027-01-31,
or 7d for a week from now. --digests takes SHA-256 of texts, --event the texts of a request that the policy denied.
test runs the cases in files, without a server for expressions, phrases and the gateway configuration. Exits with 0 if no case of weight must failed, 4
if one did, 1 on an error, 2 if it is called incorrectly. --judge ask asks the server about rules in plain language and keeps its verdicts beside
the file, recorded uses those. --watch runs again after each change.
--org may be left out while there is only one organization.`,
  async run(context) {
    if (context.args[0] === 'apply') throw movedToApply('policies')
    if (context.args[0] === 'test') return testPolicies(context)
    const { values, positionals } = readArguments(context.args, policyOptions, context.args[0] === 'exceptions' ? 4 : 2)
    const [verb = 'list', id = '', ...rest] = positionals
    const work = Object.hasOwn(known, verb) ? known[verb] : undefined
    if (!work) throw unknownSubcommand('policies', verb)
    if (!withoutId.has(verb)) required(id, 'The id of the policy')
    return runOnServer(context, values, (connection) => work({ connection, id, rest, values, context }))
  },
}
