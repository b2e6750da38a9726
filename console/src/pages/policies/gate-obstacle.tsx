import { Link } from '@tanstack/react-router'
import { isApiError } from '../../api/error.ts'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'

const text = words.gate
/** The API needs this many characters. */
const shortest = 10

export const isGateError = (error: unknown): boolean =>
  isApiError(error) && (error.code === 'gate_not_passed' || error.code === 'gate_stale')

export const overrideOf = (typed: string): { readonly override?: { readonly reason: string } } =>
  typed.trim().length < shortest ? {} : { override: { reason: typed.trim() } }

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
        {isApiError(error) ? error.message : text.notPassed}{' '}
        <Link to="/policies/$policyId/gate" params={{ policyId }}>
          {text.open}
        </Link>
      </Notice>
      {mayOverride && override && (
        <Field label={text.override} hint={text.overrideHint}>
          {(input) => (
            <input
              {...input}
              value={override.reason}
              maxLength={500}
              onChange={({ target }) => override.onReason(target.value)}
            />
          )}
        </Field>
      )}
    </>
  )
}
