import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePolicyNames } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { useDebounced } from '../../kit/use-debounced.ts'
import { words } from '../../words/en.ts'
import { useSimulation, type GatewayConfig, type Scenario, type Simulation } from './queries.ts'
import styles from './simulate-pane.module.css'

const text = words.gateway

type PaneProps = {
  readonly config: GatewayConfig
  readonly inForce: GatewayConfig
  /** Whether a field of the form already shows what is wrong with the configuration. */
  readonly isToldAtField: boolean
}

/** What the edited configuration decides about a text, beside what is in force. Runs while one types. */
export function SimulatePane({ config, inForce, isToldAtField }: PaneProps) {
  const [scenario, setScenario] = useState<Scenario>({ text: '', direction: 'request' })
  const input = useDebounced({ config, scenario })
  const edited = useSimulation(input.config, input.scenario)
  const current = useSimulation(inForce, input.scenario)
  return (
    <Card title={text.simulate} note={text.simulateNote}>
      <div className={styles.pane}>
        <Field label={text.text} hint={text.textHint}>
          {({ className = '', ...props }) => (
            <textarea
              {...props}
              className={`${className} ${styles.text}`}
              rows={4}
              value={scenario.text}
              onChange={({ target }) => setScenario({ ...scenario, text: target.value })}
            />
          )}
        </Field>
        <Field label={text.direction}>
          {(props) => (
            <select
              {...props}
              value={scenario.direction}
              onChange={({ target }) =>
                setScenario({ ...scenario, direction: target.value === 'response' ? 'response' : 'request' })
              }
            >
              <option value="request">{text.directions.request}</option>
              <option value="response">{text.directions.response}</option>
            </select>
          )}
        </Field>
        {edited.isError && (isToldAtField ? <p>{text.fixFirst}</p> : <ErrorNotice error={edited.error} />)}
        {input.scenario.text !== '' && !edited.isError && edited.data && (
          <div className={styles.pane} role="status">
            <Verdict name={text.edited} simulation={edited.data} />
            {current.data && <Verdict name={text.inForce} simulation={current.data} />}
            {edited.data.warnings.map(({ code, message }) => (
              <Notice key={code} tone="warning">
                {message}
              </Notice>
            ))}
            <Evidence simulation={edited.data} />
          </div>
        )}
        <CommandPreview
          call={{ method: 'POST', path: '/api/policy-gateway/simulate', body: { ...input, judge: false } }}
        />
      </div>
    </Card>
  )
}

const Verdict = ({ name, simulation }: { readonly name: string; readonly simulation: Simulation }) => (
  <div className={styles.verdict}>
    <span>{name}</span>
    <SimulatedVerdict simulation={simulation} />
  </div>
)

/** A rule that was not evaluated is mentioned, and does not hide what the others decided. */
function SimulatedVerdict({ simulation }: { readonly simulation: Simulation }) {
  const { decision, enforced, effective_decision: effective, results } = simulation
  const isOpen = decision === 'not_evaluated'
  const skipped = results.filter((result) => result.decision === 'not_evaluated').length
  return (
    <>
      <DecisionBadge decision={isOpen ? effective : decision} isEnforced={isOpen || enforced} />
      {skipped > 0 && <span>{words.request.notEvaluated(skipped)}</span>}
    </>
  )
}

type CheckNameProps = {
  readonly check: Simulation['results'][number]['check']
  readonly policyId: string | null
  readonly names: ReadonlyMap<string, string>
}

/** The name of a policy with a link to it. Somebody who may not list policies sees its id. */
function CheckName({ check, policyId, names }: CheckNameProps) {
  if (check !== 'policy' || policyId === null) return text.checks[check]
  const name = names.get(policyId)
  return name === undefined ? (
    `${text.checks.policy} ${policyId}`
  ) : (
    <Link to="/policies/$policyId" params={{ policyId }}>
      {name}
    </Link>
  )
}

function Evidence({ simulation }: { readonly simulation: Simulation }) {
  const policyNames = usePolicyNames(useMay('policies:read'))
  const { denylist_hits: denied, allowlist_hits: allowed, redactions, triggered_categories: triggered } = simulation
  const replaced = Object.entries(redactions).map(([kind, times]) => `${kind}: ${times}`)
  const facts: readonly (readonly [string, readonly string[]])[] = [
    [text.hits, denied],
    [text.allowlistHits, allowed],
    [text.redactions, replaced],
    [text.triggered, triggered],
  ]
  return (
    <>
      <dl className={styles.facts}>
        {facts.map(
          ([name, values]) =>
            values.length > 0 && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{values.join(', ')}</dd>
              </div>
            ),
        )}
      </dl>
      <ul className={styles.results}>
        {simulation.results.map((result, at) => (
          <li key={at}>
            <span title={result.policy_id ?? undefined}>
              <CheckName check={result.check} policyId={result.policy_id} names={policyNames} />
            </span>
            <DecisionBadge decision={result.decision} isEnforced={result.enforced} />
          </li>
        ))}
      </ul>
    </>
  )
}
