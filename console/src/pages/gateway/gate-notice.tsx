import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { gateErrorText, OverrideField } from '../../kit/gate-override.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import type { GatewayConfig } from './queries.ts'
import styles from './changes.module.css'

const text = words.gate

type GatewayRun = components['schemas']['GatewayGateRun']

const progressMs = 1_000

/** The run with this id; loaded again each second while it runs. */
const useGatewayRun = (runId: string | undefined) =>
  useQuery({
    enabled: runId !== undefined,
    queryKey: ['gateway_gate', runId],
    queryFn: (): Promise<GatewayRun> =>
      dataOf(
        api.GET('/api/policy-gateway/config/gate/{gate_run_id}', { params: { path: { gate_run_id: runId ?? '' } } }),
      ),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? progressMs : false),
  })

type NoticeProps = {
  readonly config: GatewayConfig
  /** Why the save was rejected. */
  readonly error: unknown
  readonly override: { readonly reason: string; readonly onReason: (reason: string) => void }
}

/** What the publish gate asks of the configuration, the button that runs it, and the reason of a save past it. */
export function GateNotice({ config, error, override }: NoticeProps) {
  const [runId, setRunId] = useState<string>()
  const mayOverride = useMay('policies:override')
  const start = useChange({
    send: (candidate: GatewayConfig): Promise<GatewayRun> =>
      dataOf(api.POST('/api/policy-gateway/config/gate', { body: { config: candidate } })),
    refresh: [],
    onDone: ({ id }) => setRunId(id),
  })
  const run = useGatewayRun(runId).data
  const isRunning = start.isPending || run?.state === 'running'
  const isPassed = run?.state === 'passed' || run?.state === 'warned'
  return (
    <>
      <Notice tone={isPassed ? 'allow' : 'deny'}>{isPassed ? text.saveAgain : gateErrorText(error)}</Notice>
      {run && !isPassed && (
        <ul className={styles.quiet}>
          {run.checks.map(({ kind, state, message }) => (
            <li key={kind}>
              {text.kinds[kind]}: {text.checkStates[state]}. {message}
            </li>
          ))}
        </ul>
      )}
      {start.isError && <ErrorNotice error={start.error} />}
      <Button disabled={isRunning} onClick={() => start.mutate(config)}>
        {isRunning ? text.running : text.run}
      </Button>
      {mayOverride && <OverrideField {...override} />}
    </>
  )
}
