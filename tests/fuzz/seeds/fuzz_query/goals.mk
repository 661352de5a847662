(run 3 (?q ?r) (=/= (?q ?r) (1 2)) (absento a ?q) (conda ((== ?q (?r .. 5)) (symbolo ?r)) (succeed)) (once (conde ((== ?r x)) (fail))))
