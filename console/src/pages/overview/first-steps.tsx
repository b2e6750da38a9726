import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useModelNames } from '../../api/names.ts'
import { readPreferences, setPreferences } from '../../session/preferences.ts'
import { useInferenceUrl, useMay } from '../../session/session.tsx'
import { Shape } from '../../kit/badge.tsx'
import { Button, buttonClass } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { useLoadSamples, useRemoveSamples, useSamples } from './samples.ts'
import { useFirstFacts } from './use-first-facts.ts'
import styles from './first-steps.module.css'

const text = words.firstSteps

/** Steps of a new installation. Each is ticked by what the server or this browser has seen, not by a click. */
export function FirstSteps() {
  const [isHidden, setHidden] = useState(false)
  if (isHidden) return null
  const hide = (): void => {
    setPreferences({ hidesFirstSteps: true })
    setHidden(true)
  }
  return <Steps onHide={hide} />
}

type Step = { readonly name: string; readonly text: string; readonly isDone: boolean; readonly action: ReactNode }

function Steps({ onHide }: { readonly onHide: () => void }) {
  const facts = useFirstFacts()
  const [wasIncomplete, setIncomplete] = useState(false)
  if (facts === undefined) return null
  const { requestId, hasPolicy, hasModel } = facts
  const steps: readonly Step[] = [
    { ...text.send, isDone: requestId !== undefined, action: <SendAction /> },
    {
      ...text.look,
      isDone: readPreferences().hasSeenRequest && requestId !== undefined,
      action: requestId !== undefined && <LookAction requestId={requestId} />,
    },
    { ...text.policy, isDone: hasPolicy, action: <PolicyAction /> },
    { ...text.model, isDone: hasModel, action: <ModelAction /> },
  ]
  const done = steps.filter(({ isDone }) => isDone).length
  const next = steps.findIndex(({ isDone }) => !isDone)
  // An installation that is in use has taken every step, and never sees them.
  if (next < 0 && !wasIncomplete) return null
  if (next >= 0 && !wasIncomplete) setIncomplete(true)
  return (
    <Card
      title={text.title}
      note={
        <>
          {text.progress(done, steps.length)}
          <Button look="ghost" isSmall title={text.hideHint} onClick={onHide}>
            {text.hide}
          </Button>
        </>
      }
    >
      <ol className={styles.steps}>
        {steps.map((step, at) => (
          <li key={step.name} aria-current={at === next ? 'step' : undefined}>
            <span className={styles.mark}>
              {step.isDone ? <Shape tone="allow" /> : at + 1}
              {step.isDone && <span className={styles.announced}>{text.done}</span>}
            </span>
            <div className={styles.step}>
              <strong>{step.name}</strong>
              {at === next && <p>{step.text}</p>}
              {at === next && step.action}
            </div>
          </li>
        ))}
      </ol>
      <Samples />
    </Card>
  )
}

const exampleModel = 'gatehouse-echo'

function SendAction() {
  const [model = exampleModel] = useModelNames()
  const code = [
    `curl ${useInferenceUrl()}/v1/messages \\`,
    `  -H "x-api-key: $GATEHOUSE_API_KEY" -H 'content-type: application/json' \\`,
    `  -d '{"model":"${model}","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`,
  ]
  return (
    <>
      <CodeBlock code={code.join('\n')} />
      <div className={styles.actions}>
        <Link to="/projects" search={{ dialog: 'create' }} className={buttonClass({ look: 'normal' })}>
          {text.send.createKey}
        </Link>
        <span role="status" className={styles.waiting}>
          {text.send.waiting}
        </span>
      </div>
    </>
  )
}

const LookAction = ({ requestId }: { readonly requestId: string }) => (
  <div className={styles.actions}>
    <span role="status">{text.send.received}</span>
    <Link to="/requests/$requestId" params={{ requestId }} className={buttonClass({ look: 'primary' })}>
      {text.look.open}
    </Link>
  </div>
)

const useMayManage = (): boolean => [useMay('policies:write'), useMay('policies:publish')].every(Boolean)

function PolicyAction() {
  const mayManage = useMayManage()
  const samples = useSamples(mayManage)
  const loading = useLoadSamples()
  return (
    <>
      <div className={styles.actions}>
        <Button
          look="primary"
          disabled={!mayManage || !samples.isSuccess || loading.isPending}
          title={mayManage ? undefined : text.policy.mayNot}
          onClick={() => loading.mutate(samples.data ?? [])}
        >
          {loading.isPending ? text.policy.loading : text.policy.load}
        </Button>
        <Link to="/policies" className={buttonClass({ look: 'normal' })}>
          {text.policy.own}
        </Link>
      </div>
      {loading.isError && <ErrorNotice error={loading.error} />}
    </>
  )
}

const ModelAction = () => (
  <>
    <CodeBlock code={upstreamYaml} />
    <div className={styles.actions}>
      <Link to="/models" className={buttonClass({ look: 'normal' })}>
        {text.model.open}
      </Link>
    </div>
  </>
)

const upstreamYaml = [
  'upstreams:',
  '  - { name: claude, kind: anthropic, base_url: https://api.anthropic.com, api_key: "${ANTHROPIC_API_KEY}" }',
  'models:',
  '  - { name: default-model, targets: [{ upstream: claude, model: claude-sonnet-4-5 }] }',
].join('\n')

/** How many samples are loaded, and the button that removes them. */
function Samples() {
  const mayManage = useMayManage()
  const samples = useSamples(mayManage).data ?? []
  const removal = useRemoveSamples()
  if (samples.length === 0) return null
  return (
    <div className={styles.samples}>
      <span>{text.samples.loaded(samples.length)}</span>
      <Button isSmall disabled={removal.isPending} onClick={() => removal.mutate(samples)}>
        {removal.isPending ? text.samples.removing : text.samples.remove}
      </Button>
      {removal.isError && <ErrorNotice error={removal.error} />}
    </div>
  )
}
