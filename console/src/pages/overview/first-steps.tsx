import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useModelNames } from '../../api/names.ts'
import type { Overview } from '../../session/overview.ts'
import { setPreferences } from '../../session/preferences.ts'
import { useInferenceUrl, useMay } from '../../session/session.tsx'
import { Shape } from '../../kit/badge.tsx'
import { Button, buttonClass } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { useLoadSamples, useRemoveSamples, useSamples } from './samples.ts'
import styles from './first-steps.module.css'

const text = words.firstSteps

type Facts = NonNullable<Overview['first_steps']>

type Step = {
  readonly name: string
  readonly text: string
  readonly isDone: boolean
  readonly action: ReactNode
  /** What is shown once it is done. */
  readonly result?: ReactNode
}

/** Steps of a new organization, ticked by what anybody in it has done. Only for people who may do the next ones. */
export function FirstSteps({ facts }: { readonly facts: Facts }) {
  const [isHidden, setHidden] = useState(false)
  const steps = useSteps(facts)
  const done = steps.filter(({ isDone }) => isDone).length
  const next = steps.findIndex(({ isDone }) => !isDone)
  if (isHidden || steps.length === 0) return null
  const hide = (): void => {
    setPreferences({ hidesFirstSteps: true })
    setHidden(true)
  }
  return (
    <Card
      title={text.title}
      note={
        <>
          {text.progress(done, steps.length)}
          <Button look="ghost" isSmall title={text.hideHint} onClick={hide}>
            {text.hide}
          </Button>
        </>
      }
    >
      <p className={styles.product}>{text.product}</p>
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
              {step.isDone && step.result}
            </div>
          </li>
        ))}
      </ol>
      <Samples />
    </Card>
  )
}

/** The steps that this person may take, and none if others have to take those that are left. */
function useSteps({ request_id: requestId, has_policy: hasPolicy, has_model: hasModel }: Facts): readonly Step[] {
  const mayTry = useMay('playground:use')
  const mayCreateKeys = useMay('keys:write')
  const mayManage = useMayManage()
  const mayAddModels = useMay('models:write')
  const steps = [
    {
      ...text.send,
      may: mayTry || mayCreateKeys,
      isDone: requestId !== null,
      action: <SendAction mayTry={mayTry} mayCreateKeys={mayCreateKeys} />,
      result: requestId !== null && <Received requestId={requestId} />,
    },
    { ...text.policy, may: mayManage, isDone: hasPolicy, action: <PolicyAction /> },
    { ...text.model, may: mayAddModels, isDone: hasModel, action: <ModelAction /> },
  ]
  const isOver = steps.every(({ isDone }) => isDone)
  return isOver || steps.some(({ may, isDone }) => may && !isDone) ? steps.filter(({ may }) => may) : []
}

const exampleModel = 'gatehouse-echo'

type SendProps = { readonly mayTry: boolean; readonly mayCreateKeys: boolean }

function SendAction({ mayTry, mayCreateKeys }: SendProps) {
  const [model = exampleModel] = useModelNames()
  const code = [
    `curl ${useInferenceUrl()}/v1/messages \\`,
    `  -H "x-api-key: $GATEHOUSE_API_KEY" -H 'content-type: application/json' \\`,
    `  -d '{"model":"${model}","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`,
  ]
  return (
    <>
      <div className={styles.actions}>
        {mayTry && (
          <Link to="/playground" className={buttonClass({ look: 'primary' })}>
            {text.send.playground}
          </Link>
        )}
        {mayCreateKeys && (
          <Link to="/projects" search={{ dialog: 'create' }} className={buttonClass({ look: 'normal' })}>
            {text.send.createKey}
          </Link>
        )}
        <span role="status" className={styles.waiting}>
          {text.send.waiting}
        </span>
      </div>
      {mayCreateKeys && <CodeBlock code={code.join('\n')} />}
    </>
  )
}

const Received = ({ requestId }: { readonly requestId: string }) => (
  <p role="status">
    {text.send.received}{' '}
    <Link to="/requests/$requestId" params={{ requestId }} className={styles.open}>
      {text.send.open}
    </Link>
  </p>
)

const useMayManage = (): boolean => [useMay('policies:write'), useMay('policies:publish')].every(Boolean)

function PolicyAction() {
  const samples = useSamples(useMayManage())
  const loading = useLoadSamples()
  return (
    <>
      <div className={styles.actions}>
        <Button
          look="primary"
          disabled={!samples.isSuccess || loading.isPending}
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
  <div className={styles.actions}>
    <Link to="/models" search={{ add: 'upstream' }} className={buttonClass({ look: 'primary' })}>
      {text.model.add}
    </Link>
  </div>
)

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
