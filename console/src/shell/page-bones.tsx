import { useRouterState } from '@tanstack/react-router'
import { Bones, LoadingRows } from '../kit/state.tsx'
import styles from './page-bones.module.css'

/** The parts of a page in their places, while its code or the person who is signed in is not known yet. */
export function PageBones() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  if (path.startsWith('/overview')) return <OverviewBones />
  if (path.startsWith('/playground') || path.startsWith('/gateway')) return <ColumnBones />
  return <ListBones />
}

/** Figures, a chart beside a list, and three cards. */
const OverviewBones = () => (
  <div className={styles.page}>
    <Bones height={170} />
    <div className={styles.wide}>
      <Bones height={390} />
      <Bones height={120} />
    </div>
    <div className={styles.thirds}>
      <Bones height={240} />
      <Bones height={240} />
      <Bones height={240} />
    </div>
  </div>
)

const ColumnBones = () => (
  <div className={styles.page}>
    <div className={styles.halves}>
      <Bones height={420} />
      <Bones height={420} />
    </div>
  </div>
)

/** A line of filters and a table. */
const ListBones = () => (
  <>
    <div className={styles.toolbar}>
      <Bones height={36} />
    </div>
    <LoadingRows widths={[140, 90, 180, 90]} rows={14} />
  </>
)
