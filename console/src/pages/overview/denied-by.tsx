import { Link } from '@tanstack/react-router'
import { Card } from '../../kit/card.tsx'
import { count } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import { changeShare } from './changes.ts'
import type { OverviewPeriod } from './queries.ts'
import styles from './rows.module.css'

const text = words.overview.deniedBy

type DeniedByProps = { readonly rules: NonNullable<OverviewPeriod['denied_by']> }

/** What denied most requests. Each leads to the requests that it denied. */
export const DeniedBy = ({ rules }: DeniedByProps) => (
  <Card title={text.title} note={<Link to="/policies">{words.overview.policiesLink}</Link>} isFlush>
    {rules.length === 0 ? (
      <p className={styles.none}>{text.none}</p>
    ) : (
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{text.rule}</th>
            <th scope="col">{text.requests}</th>
            <th scope="col">{text.change}</th>
          </tr>
        </thead>
        <tbody>
          {rules.map(({ check, policy_id: id, name, denied, before }) => (
            <tr key={id}>
              <td>
                <Link to="/requests" search={{ status: 'denied', policy_id: id }}>
                  {check === 'gateway' ? text.gateway(name) : name}
                </Link>
              </td>
              <td>{count(denied)}</td>
              <td>{changeShare(denied, before)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </Card>
)
