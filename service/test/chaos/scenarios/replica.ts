// Pollers that request pages from two nodes, one of which reads from a replica, while the replica is paused and resumed.

import { openReplicaScene, Pair } from '../cluster/pair.ts';
import type { Scenario } from '../scenario.ts';
import {
  type FetchPage,
  followerPoller,
  greatestStampPoller,
  openWalkPoller,
  type Poller,
  tilingPoller,
} from '../traffic/pollers.ts';

const ROWS = 40;

export const replica: Scenario = {
  name: 'replica',
  guarantee: 'no poller misses a change while pages alternate between the primary and a delayed replica',
  databases: ['PostgreSQL'],
  minutes: 1,
  options: { steps: { type: 'string', default: '1000', help: 'number of imports and walks' } },
  mustHappen: ['walks', 'pages', 'pauses of the replica'],
  short: { minutes: 2, values: { steps: '40' } },
  async run(run) {
    const pair = run.use(await Pair.start());
    const scene = run.use(await openReplicaScene(pair));
    const random = run.random('replica');
    const pages = (tokens: readonly (0 | 1)[] = [0, 1]): FetchPage => {
      const fetchPage = scene.pages([(path) => scene.node(random.pick([0, 1]), random.pick(tokens))(path)]);
      return (query) => {
        run.count('pages');
        return fetchPage(query);
      };
    };
    const documented: Poller[] = [
      openWalkPoller(pages()),
      tilingPoller(pages(), random),
      followerPoller(pages()),
    ];
    const greatest = greatestStampPoller(pages([0]));
    const numbers = Array.from({ length: ROWS }, (_, i) => i + 1);
    await scene.change(...numbers);
    for (let step = 0; step < run.number('steps') && !run.isOver; step++) {
      // At least once, even in a very short run.
      if (step === 0 || random.chance(0.25)) {
        await pair.hold();
        run.count('pauses of the replica');
      } else if (random.chance(0.35)) await pair.release();
      const limit = random.whole(3, 15);
      // Safe only with a separate token, so that no other poller begins a walk over its windows.
      for (const together of [documented, [greatest]]) {
        await Promise.all([
          scene.change(...random.shuffled(numbers).slice(0, random.whole(1, 6))),
          ...together.map((poller) => poller.walk(limit)),
        ]);
        run.count('walks', together.length);
      }
    }
    await pair.release();
    await pair.untilCaughtUp();
    for (const poller of [...documented, greatest]) {
      // The first walk can continue one that the same token began earlier, which is complete only through an earlier stamp.
      await poller.walk(ROWS);
      await poller.walk(ROWS);
      for (const number of await scene.lostBy(poller))
        run.violation('LOST', `${poller.kind} does not have the latest version of ${number}`);
    }
    // Only a primary guarantees that a first page is at least as complete as every earlier page.
    for (const what of scene.brokenPromises)
      if (!what.startsWith('complete through')) run.violation('PAGE', what);
  },
};
