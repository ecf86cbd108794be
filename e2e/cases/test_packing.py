"""The benchmark of gangs that tile a cluster exactly, with three of its nine waves and shorter runs: whole gangs, wave after
wave, and no node is assigned twice. Its measurements are printed, not checked.
"""
import support
from lib import packing
from support import given

CLUSTER = {"nodes": 32}  # packing.NODES
WAVES, SECONDS = packing.WAVES[1:4], 2


class Packing(support.Case):
    def test_gangs_that_tile_the_cluster(self):
        found = packing.run(given().api, WAVES, SECONDS)
        print(f"{len(found['spans'])} gangs, mean occupancy {found['occupancy']:.3f} over {found['seconds']:.1f} s")
        self.assertEqual(sum(count for wave in WAVES for _, count in wave), len(found["spans"]))
        moments = sorted({since for since, _, _ in found["spans"].values()})
        for moment in moments:
            nodes = sum(members for since, to, members in found["spans"].values() if since <= moment < to)
            self.assertLessEqual(nodes, packing.NODES)
