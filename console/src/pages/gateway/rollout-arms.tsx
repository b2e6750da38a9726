import { count, percent } from '../../kit/format.ts'
import { SmallHeading } from '../../kit/small-heading.tsx'
import { words } from '../../words/en.ts'
import { useDecisions, useSavedConfig, type DecisionHour } from './queries.ts'
import styles from './rollout-arms.module.css'

const text = words.gateway

/** How often the configuration in force denied in the last seven days, where it is enforced and where it is only recorded. */
export function RolloutArms() {
  const version = useSavedConfig().data?.version
  const hours = useDecisions().data?.data.filter((hour) => hour.version === version) ?? []
  if (hours.length === 0) return null
  return (
    <div className={styles.arms}>
      <SmallHeading>{text.arms}</SmallHeading>
      <dl>
        <Arm name={text.enforcedArm} counts={hours.map(({ enforced }) => enforced)} />
        <Arm name={text.recordedArm} counts={hours.map(({ recorded }) => recorded)} />
      </dl>
    </div>
  )
}

type ArmProps = { readonly name: string; readonly counts: readonly DecisionHour['enforced'][] }

function Arm({ name, counts }: ArmProps) {
  const requests = counts.reduce((sum, each) => sum + each.requests, 0)
  const denied = counts.reduce((sum, each) => sum + each.denied, 0)
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {requests === 0 ? words.common.none : percent(denied / requests)}
        {requests > 0 && <small> {text.deniedOf(count(denied), count(requests))}</small>}
      </dd>
    </div>
  )
}
