import { Link } from '@tanstack/react-router'
import { gateErrorText, isGateError, OverrideField } from '../../kit/gate-override.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'

type ObstacleProps = {
  readonly policyId: string
  readonly error: unknown
  /** Without it, the gate cannot be overridden here. */
  readonly override?: { readonly reason: string; readonly onReason: (reason: string) => void }
}

/** Why a publication failed. For the publish gate: what is missing, where to see it, and how to publish nevertheless. */
export function PublishError({ policyId, error, override }: ObstacleProps) {
  const mayOverride = useMay('policies:override')
  if (!isGateError(error)) return <ErrorNotice error={error} />
  return (
    <>
      <Notice tone="deny">
        {gateErrorText(error)}{' '}
        <Link to="/policies/$policyId/gate" params={{ policyId }}>
          {words.gate.open}
        </Link>
      </Notice>
      {mayOverride && override && <OverrideField {...override} />}
    </>
  )
}
